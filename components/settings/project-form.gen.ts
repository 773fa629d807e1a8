// Written by server/generate.ts. Run `npm run gen` after a change of project-form-schema.ts.
import type { LaterSchema } from "#components/forms/use-form.ts";
import type { HourForm, ProjectForm, RetentionForm } from "#components/settings/project-form-schema.ts";

export const hourForm: LaterSchema<typeof HourForm> = {
  fields: {"executions_per_hour":{"isRequired":false,"isNullable":true,"control":"number","min":1,"max":1000000,"isInteger":true,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/project-form-schema.ts").then((module) => module.HourForm),
};

export const projectForm: LaterSchema<typeof ProjectForm> = {
  fields: {"name":{"title":"Name","description":"Name, 1 to 120 characters","isRequired":true,"isNullable":false,"control":"text","max":120,"isInteger":false,"isFormat":false,"options":[]},"slug":{"title":"Slug","description":"Readable name for X-Project-Slug, unique within the account","isRequired":true,"isNullable":false,"control":"text","max":60,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/project-form-schema.ts").then((module) => module.ProjectForm),
};

export const retentionForm: LaterSchema<typeof RetentionForm> = {
  fields: {"retention_days":{"isRequired":false,"isNullable":true,"control":"number","min":1,"max":3650,"isInteger":true,"isFormat":false,"options":[]}},
  load: () => import("#components/settings/project-form-schema.ts").then((module) => module.RetentionForm),
};
