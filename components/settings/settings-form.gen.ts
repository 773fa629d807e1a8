// Written by server/generate.ts. Run `npm run gen` after a change of settings-form-schema.ts.
import type { LaterSchema } from "#components/forms/use-form.ts";
import type { EarlierProjectsForm, FormatForm, HourForm, NameAdminForm, NameForm, PasswordForm, ProjectForm, RetentionForm } from "#components/settings/settings-form-schema.ts";

export const earlierProjectsForm: LaterSchema<typeof EarlierProjectsForm> = {
  fields: {"password":{"title":"Earlier password","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.EarlierProjectsForm),
};

export const formatForm: LaterSchema<typeof FormatForm> = {
  fields: {"time_zone":{"title":"Time zone","description":"IANA name; null: the browser's","isRequired":false,"isNullable":true,"control":"text","max":60,"isInteger":false,"isFormat":false,"options":[]},"locale":{"title":"Dates and numbers","description":"BCP 47; null: as in 21 Nov 2026","isRequired":false,"isNullable":true,"control":"text","max":35,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.FormatForm),
};

export const hourForm: LaterSchema<typeof HourForm> = {
  fields: {"executions_per_hour":{"isRequired":false,"isNullable":true,"control":"number","min":1,"max":1000000,"isInteger":true,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.HourForm),
};

export const nameAdminForm: LaterSchema<typeof NameAdminForm> = {
  fields: {"email":{"title":"E-mail","description":"E-mail address","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":true,"options":[]},"accept_unverified":{"title":"I know that this account is theirs","description":"Required for an account with an unverified address: confirms that the account belongs to the owner of the address","isRequired":false,"isNullable":false,"control":"boolean","isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.NameAdminForm),
};

export const nameForm: LaterSchema<typeof NameForm> = {
  fields: {"name":{"title":"Name","description":"Name, 1 to 120 characters","isRequired":true,"isNullable":false,"control":"text","max":120,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.NameForm),
};

export const passwordForm: LaterSchema<typeof PasswordForm> = {
  fields: {"current_password":{"title":"Current password","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]},"new_password":{"title":"Password","description":"8 to 200 characters","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]},"end_api_keys":{"description":"true also deletes every API key of yours","isRequired":false,"isNullable":false,"control":"boolean","isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.PasswordForm),
};

export const projectForm: LaterSchema<typeof ProjectForm> = {
  fields: {"name":{"title":"Name","description":"Name, 1 to 120 characters","isRequired":true,"isNullable":false,"control":"text","max":120,"isInteger":false,"isFormat":false,"options":[]},"slug":{"title":"Slug","description":"Readable name for X-Project-Slug, unique within the account","isRequired":true,"isNullable":false,"control":"text","max":60,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.ProjectForm),
};

export const retentionForm: LaterSchema<typeof RetentionForm> = {
  fields: {"retention_days":{"isRequired":false,"isNullable":true,"control":"number","min":1,"max":3650,"isInteger":true,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/settings-form-schema.ts").then((module) => module.RetentionForm),
};
