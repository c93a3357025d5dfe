/** Remembers the ports a process got, so that its addresses stay the same after a restart while they are free. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Ports = Readonly<Record<string, number>>;

export function readPorts(directory: string): Ports {
  try {
    return JSON.parse(readFileSync(join(directory, 'ports.json'), 'utf8')) as Ports;
  } catch {
    return {};
  }
}

export function writePorts(directory: string, ports: Ports): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'ports.json'), `${JSON.stringify(ports)}\n`);
}

/** Tries the remembered port, then any free one. */
export async function onRememberedPort<T>(port: number | undefined, open: (port: number) => Promise<T>): Promise<T> {
  if (port !== undefined && port !== 0) {
    try {
      return await open(port);
    } catch {
      // Another process has it by now.
    }
  }
  return open(0);
}
