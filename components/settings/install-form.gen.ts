// Written by server/generate.ts. Run `npm run gen` after a change of install-form-schema.ts.
import type { LaterSchema } from "#components/forms/use-form.ts";
import type { NameAdminForm } from "#components/settings/install-form-schema.ts";

export const nameAdminForm: LaterSchema<typeof NameAdminForm> = {
  fields: {"email":{"title":"E-mail","description":"E-mail address","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":true,"options":[]},"accept_unverified":{"title":"I know that this account is theirs","description":"Needed for an account whose address nobody has verified, and which anybody may have made: you know that it is theirs","isRequired":false,"isNullable":false,"control":"boolean","isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/install-form-schema.ts").then((module) => module.NameAdminForm),
};
