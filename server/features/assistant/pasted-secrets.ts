import { opened, projectMask } from "#server/features/credentials/project-mask.ts";
import { db } from "#server/platform/db/client.ts";
import { MASK } from "#server/platform/masking/masker.ts";
import { unseal } from "#server/platform/secrets.ts";

// As server/platform/secrets.ts makes them. Of an API key only a hash is kept, so it is known by its form.
const API_KEY = /sk-service-[\w-]{32,}/g;
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;

/** What a person has written, without any secret of the project that may have been pasted into it, and without API keys. */
export async function withoutSecrets(project_id: string, written: string): Promise<string> {
  const text = (await projectMask(project_id)).text(written).replace(API_KEY, MASK);
  if (text.search(TOKEN) === -1) return text;
  const webhooks = await db().webhook.findMany({ where: { workflow: { project_id } }, select: { sealed_secret: true } });
  const secrets = new Set(webhooks.map(({ sealed_secret }) => opened(() => unseal(sealed_secret), "")));
  return text.replace(TOKEN, (token) => (secrets.has(token) ? MASK : token));
}
