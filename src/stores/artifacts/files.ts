/**
 * Artifacts as files: `<root>/<tenant>/<ab>/<cd>/<hex>`, so that no directory holds more than some thousands. A file appears whole or
 * not at all: written beside its place, flushed, then renamed. Source: DESIGN §4 "artifact store".
 */
import { constants } from 'node:fs';
import { mkdir, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CaseOpsError } from '#contracts/error.ts';
import type { Digest, Tenant } from '#contracts/ids.ts';
import type { ArtifactStore } from '#ports/artifact-store.ts';
import { addressOf, assertSize, checked, hexOf } from './artifact-key.ts';

export interface FileArtifactsOptions {
  /** The directory below which everything lies; made when it is missing, readable by this user alone. */
  readonly root: string;
}

/** How many names for a file in the making are tried; each is taken by another writer of the same bytes. */
const PART_NAME_COUNT_MAX = 64;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Passes the artifact suite. Several processes may share one root. Links are not followed at an artifact's own name. */
export function createFileArtifacts(options: FileArtifactsOptions): ArtifactStore {
  const root = resolve(options.root);
  const pathOf = (tenant: Tenant, digest: Digest): string => {
    const hex = hexOf(tenant, digest);
    return join(root, tenant, hex.slice(0, 2), hex.slice(2, 4), hex);
  };
  return {
    put: (tenant, bytes) =>
      guarded(root, async () => {
        const digest = addressOf(bytes);
        const path = pathOf(tenant, digest);
        if (await holds(path, { tenant, digest })) return digest;
        await writeWhole(path, bytes);
        // A directory entry that is lost loses the file as well; who made which of them is not known, so each is flushed.
        for (let made = dirname(path); made.length >= root.length; made = dirname(made)) await syncDirectory(made);
        return digest;
      }),
    get: (tenant, digest) =>
      guarded(root, async () => {
        const bytes = await readBounded(pathOf(tenant, digest));
        return bytes === undefined ? undefined : checked(bytes, { tenant, digest });
      }),
    has: (tenant, digest) => guarded(root, () => isFile(pathOf(tenant, digest))),
    remove: (tenant, digest) =>
      guarded(root, async () => {
        const path = pathOf(tenant, digest);
        try {
          await unlink(path);
        } catch (error) {
          if (isCode(error, 'ENOENT')) return false;
          throw error;
        }
        // Gone for good only when the directory says so after a power cut, too.
        await syncDirectory(dirname(path));
        return true;
      }),
  };
}

/** Whether the file is there in good condition; a damaged one is written anew. */
async function holds(path: string, at: { readonly tenant: Tenant; readonly digest: Digest }): Promise<boolean> {
  try {
    const bytes = await readBounded(path);
    return bytes !== undefined && checked(bytes, at) === bytes;
  } catch (error) {
    if (error instanceof CaseOpsError) return false;
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function readBounded(path: string): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    assertSize((await file.stat()).size);
    return await file.readFile();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
  const part = await openPart(path);
  try {
    await part.file.writeFile(bytes);
    await part.file.sync();
    await part.file.close();
    await rename(part.path, path);
  } catch (error) {
    await part.file.close().catch(() => undefined);
    await unlink(part.path).catch(() => undefined);
    throw error;
  }
}

async function openPart(path: string): Promise<{ readonly path: string; readonly file: FileHandle }> {
  for (let count = 0; ; count += 1) {
    const part = `${path}.${process.pid}-${count}.part`;
    try {
      return { path: part, file: await open(part, 'wx', FILE_MODE) };
    } catch (error) {
      if (!isCode(error, 'EEXIST') || count >= PART_NAME_COUNT_MAX) throw error;
    }
  }
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, constants.O_RDONLY);
  await handle.sync();
}

/** The operating system's failure as ERR_STORE, with the place and what to do. */
async function guarded<T>(root: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CaseOpsError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new CaseOpsError(
      'ERR_STORE',
      `The artifact directory ${root} failed (${code}): ${ADVICE[code] ?? 'check the disk and try again'}.`,
      { at: 'store', cause: error, detail: { root, osCode: code } },
    );
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'free space on the disk, then try again',
  EACCES: 'make it writable for this user or name another one',
  EROFS: 'it lies on a file system that cannot be written',
  ENOTDIR: 'a part of its path is a file; name another one',
  ELOOP: 'an artifact was replaced by a link; remove the link',
};

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
