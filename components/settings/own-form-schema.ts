import { ChangePasswordInput, ResumeMembershipsInput, UpdateProfileInput } from "#server/features/identity/schema.ts";

export const NameForm = UpdateProfileInput.pick({ name: true }).required();
export const FormatForm = UpdateProfileInput.pick({ time_zone: true, locale: true });
export const EarlierProjectsForm = ResumeMembershipsInput;
export const PasswordForm = ChangePasswordInput;
