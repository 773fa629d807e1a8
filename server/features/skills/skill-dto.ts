import type { Skill as SkillRow } from "#prisma/generated/client.ts";
import type { Skill } from "#server/features/skills/schema.ts";

/** A project's own skill as the API shows it. */
export const toSkill = ({ id, name, description, prompt, model }: SkillRow): Skill => ({
  id,
  name,
  description,
  prompt,
  ...(model && { model }),
  source: "project",
});
