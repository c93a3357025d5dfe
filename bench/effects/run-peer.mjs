// Runs one peer's stories against an owner of its own and prints one JSON object: how often the owner applied something.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { startOwner } from './owner.mjs';

const peer = await import(`./peers/${process.argv[2]}.mjs`);
const require = createRequire(new URL('./peers/package.json', import.meta.url));
const version = manifestOf(peer.packageName).version;
const owner = await startOwner();
const stories = {};
for (const [id, story] of Object.entries(peer.stories)) {
  owner.reset();
  try {
    const note = await story(owner);
    stories[id] =
      note === undefined
        ? { notApplicable: true }
        : {
            effects: owner.applied.length,
            applied: owner.applied.map((one) => one.body.text),
            atVersion: owner.applied.map((one) => one.version),
            note,
          };
  } catch (error) {
    stories[id] = {
      effects: owner.applied.length,
      note: `ended with ${error.name}: ${String(error.message).split('\n')[0]}`,
    };
  }
}
console.log(JSON.stringify({ name: peer.name, packageName: peer.packageName, version, stories }));
owner.close();
process.exit(0);

function manifestOf(name) {
  const declared = JSON.parse(readFileSync(new URL('./peers/package.json', import.meta.url), 'utf8')).dependencies[
    name
  ];
  try {
    return require(`${name}/package.json`);
  } catch {
    return { version: declared };
  }
}
