/** Where a supervisor keeps what is too large for its database: beside it, or in an S3-compatible service. Source: DESIGN §4 "Owners". */
import type { ArtifactStore } from '#ports/artifact-store.ts';
import type { Secrets } from '#ports/secrets.ts';
import { createFileArtifacts } from '#stores/artifacts/files.ts';
import { createS3Artifacts, type S3Credentials } from '#stores/artifacts/s3.ts';
import { join } from 'node:path';
import type { CaseOpsConfig } from './config.ts';
import { namedSecret } from './named-secret.ts';
import { systemClock } from './system-clock.ts';

type ArtifactsConfig = CaseOpsConfig['artifacts'];

/**
 * `files` is `<directory>/artifacts`, made on first use. Throws ERR_CONFIG for a secret that is not there or a place that is not well
 * formed; whether the service answers shows when something is put there.
 */
export async function openArtifacts(
  config: ArtifactsConfig,
  { directory, secrets }: { readonly directory: string; readonly secrets: Secrets | undefined },
): Promise<ArtifactStore> {
  if (config.kind === 'files') return createFileArtifacts({ root: join(directory, 'artifacts') });
  const { endpoint, bucket, region, prefix } = config;
  // Once at the start, so that a missing one is known before anything depends on it; then at each request, so that it may be rotated.
  await credentialsOf(config, secrets);
  return createS3Artifacts({
    endpoint,
    bucket,
    region,
    ...(prefix === undefined ? {} : { prefix }),
    credentials: () => credentialsOf(config, secrets),
    clock: systemClock,
  });
}

async function credentialsOf(
  config: Extract<ArtifactsConfig, { readonly kind: 's3' }>,
  secrets: Secrets | undefined,
): Promise<S3Credentials> {
  const read = async (name: string): Promise<string> =>
    (await namedSecret(name, secrets, 'the S3 credential')).reveal();
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    read(config.accessKeyId),
    read(config.secretAccessKey),
    config.sessionToken === undefined ? undefined : read(config.sessionToken),
  ]);
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}
