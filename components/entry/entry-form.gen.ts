// Written by server/generate.ts. Run `npm run gen` after a change of entry-form-schema.ts.
import type { LaterSchema } from "#components/forms/use-form.ts";
import type { JoinAsNewForm, JoinForm, RequestResetForm, ResetForm, SignInForm, SignUpForm } from "#components/entry/entry-form-schema.ts";

export const joinAsNewForm: LaterSchema<typeof JoinAsNewForm> = {
  fields: {"name":{"title":"Name","description":"Name, 1 to 120 characters","isRequired":true,"isNullable":false,"control":"text","max":120,"isInteger":false,"isFormat":false,"options":[]},"password":{"title":"Password","description":"8 to 200 characters","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.JoinAsNewForm),
};

export const joinForm: LaterSchema<typeof JoinForm> = {
  fields: {},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.JoinForm),
};

export const requestResetForm: LaterSchema<typeof RequestResetForm> = {
  fields: {"email":{"title":"E-mail","description":"E-mail address","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":true,"options":[]}},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.RequestResetForm),
};

export const resetForm: LaterSchema<typeof ResetForm> = {
  fields: {"password":{"title":"Password","description":"8 to 200 characters","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]},"end_api_keys":{"description":"true also deletes every API key of the account","isRequired":false,"isNullable":false,"control":"boolean","isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.ResetForm),
};

export const signInForm: LaterSchema<typeof SignInForm> = {
  fields: {"email":{"title":"E-mail","description":"E-mail address","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":true,"options":[]},"password":{"title":"Password","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":false,"options":[]},"code":{"isRequired":false,"isNullable":false,"control":"text","max":100,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.SignInForm),
};

export const signUpForm: LaterSchema<typeof SignUpForm> = {
  fields: {"email":{"title":"E-mail","description":"E-mail address","isRequired":true,"isNullable":false,"control":"text","isInteger":false,"isFormat":true,"options":[]},"name":{"title":"Name","description":"Name, 1 to 120 characters","isRequired":true,"isNullable":false,"control":"text","max":120,"isInteger":false,"isFormat":false,"options":[]},"password":{"title":"Password","description":"8 to 200 characters","isRequired":true,"isNullable":false,"control":"text","max":200,"isInteger":false,"isFormat":false,"options":[]}},
  load: () => import("#components/entry/entry-form-schema.ts").then((module) => module.SignUpForm),
};
