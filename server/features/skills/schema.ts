import { z } from "zod";
import { Description, Id, Name, pageOf } from "#server/shared/primitives-schema.ts";

const model = z
  .string()
  .trim()
  .max(200)
  .meta({ title: "Model", description: "Plain id of the model that the prompt was written for; left out when any will do" });

export const Skill = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    prompt: z.string(),
    model: model.optional(),
    source: z.enum(["builtin", "project"]).meta({ description: "builtin: comes with the service; project: made in this project" }),
  })
  .meta({ id: "Skill", description: "A prompt for one kind of work, and the model that it goes with" });
export type Skill = z.infer<typeof Skill>;

export const SkillRef = z.strictObject({ skill_id: Id });
export const SkillPage = pageOf(Skill);

// What follows serves the web UI: over REST, skills are read-only.

const writable = {
  name: Name.meta({ description: "Unique in the project, and not one of a built-in skill" }),
  description: Description,
  prompt: z
    .string()
    .trim()
    .min(1, "Write the prompt.")
    .max(50_000)
    .meta({ title: "Prompt", description: "Instructions for the model, up to 50,000 characters" }),
  model: model.meta({ description: "Empty when any model will do" }),
};
export const CreateSkillInput = z.strictObject(writable);
export type CreateSkillInput = z.infer<typeof CreateSkillInput>;
export const UpdateSkillInput = z.strictObject({ skill_id: Id, ...writable });
export type UpdateSkillInput = z.infer<typeof UpdateSkillInput>;
