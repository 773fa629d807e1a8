import { UpdateProjectInput } from "#server/features/projects/schema.ts";

export const ProjectForm = UpdateProjectInput.pick({ name: true, slug: true }).required();
export const HourForm = UpdateProjectInput.pick({ executions_per_hour: true }).required();
export const RetentionForm = UpdateProjectInput.pick({ retention_days: true }).required();
