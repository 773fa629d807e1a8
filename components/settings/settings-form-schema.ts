import { ChangePasswordInput, ResumeMembershipsInput, UpdateProfileInput } from "#server/features/identity/schema.ts";
import { NameInstallAdminInput } from "#server/features/install/schema.ts";
import { UpdateProjectInput } from "#server/features/projects/schema.ts";

// Not the assistant's, whose file brings the language of workflows along.

export const NameForm = UpdateProfileInput.pick({ name: true }).required();
export const FormatForm = UpdateProfileInput.pick({ time_zone: true, locale: true });
export const EarlierProjectsForm = ResumeMembershipsInput;
export const PasswordForm = ChangePasswordInput;

export const ProjectForm = UpdateProjectInput.pick({ name: true, slug: true }).required();
export const HourForm = UpdateProjectInput.pick({ executions_per_hour: true }).required();
export const RetentionForm = UpdateProjectInput.pick({ retention_days: true }).required();

export const NameAdminForm = NameInstallAdminInput;
