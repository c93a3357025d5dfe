/** The configuration of the working directory, read once per command. */
import { loadConfig, type LoadedConfig } from 'caseops';
import { configureDirectory } from './cases.ts';

let reading: Promise<LoadedConfig | undefined> | undefined;

/** Throws ERR_CONFIG with every finding. Afterwards the data directory is the configured one. */
export function installation(): Promise<LoadedConfig | undefined> {
  reading ??= loadConfig().then((loaded) => {
    configureDirectory(loaded?.config.directory);
    return loaded;
  });
  return reading;
}
