/**
 * Loaded before a process of the kill campaign (`--import …?database=/teams/claims/&nth=3&when=after`): ends it by SIGKILL right before or
 * after the n-th transaction of the database whose path holds those words. Threads that write are processes' threads: they load it too.
 */
import { DatabaseSync } from 'node:sqlite';

const order = new URL(import.meta.url).searchParams;
const [database, nth, when] = [order.get('database') ?? '', Number(order.get('nth')), order.get('when')];
const prepare = DatabaseSync.prototype.prepare;
let commitCount = 0;

DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...given: Parameters<typeof prepare>) {
  const statement = prepare.apply(this, given);
  if (given[0] !== 'commit' || !(this.location() ?? '').includes(database)) return statement;
  const run = statement.run.bind(statement);
  statement.run = () => {
    commitCount += 1;
    if (commitCount === nth && when === 'before') process.kill(process.pid, 'SIGKILL');
    const done = run();
    if (commitCount === nth && when === 'after') process.kill(process.pid, 'SIGKILL');
    return done;
  };
  return statement;
};
