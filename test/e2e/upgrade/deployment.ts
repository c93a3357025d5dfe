/** A deployment of one version, as a process of its own: says on one line how it is reached, and stays until it is killed. */
import { createCaseOps, type CaseDefinition } from 'caseops';

const [directory = '.', version = 'v1'] = process.argv.slice(2);
const { deployed } = (await import(`./case-${version}.ts`)) as { readonly deployed: CaseDefinition };
const caseops = await createCaseOps({ case: deployed, directory, config: false });
console.log(JSON.stringify({ url: caseops.url, tokens: caseops.tokens, recovered: caseops.recoveredRunCount }));
