// Written by server/generate.ts. Run `npm run gen` after a change of assistant-form-schema.ts.
import type { LaterSchema } from "#components/forms/use-form.ts";
import type { AssistantForm } from "#components/settings/assistant-form-schema.ts";

export const assistantForm: LaterSchema<typeof AssistantForm> = {
  fields: {"llm_key_id":{"title":"LLM key","description":"One whose models can call tools; null switches the assistant off","isRequired":false,"isNullable":true,"control":"text","max":64,"isInteger":false,"isFormat":false,"options":[]},"model":{"title":"Model","description":"As the key's provider names it","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/assistant-form-schema.ts").then((module) => module.AssistantForm),
};
