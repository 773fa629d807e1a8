import { CreateSkillInput, Skill, SkillPage, SkillRef, UpdateSkillInput } from "#server/features/skills/schema.ts";
import { createSkill, deleteSkill, getSkill, listSkills, updateSkill } from "#server/features/skills/service.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Skills";

/** Read-only over REST (specification, Skills and credentials); the web UI makes and changes a project's own. */
export const skillsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/skills", { tag, summary: "List the skills", description: "The project's own, then the built-in ones." }))
    .input(ListInput)
    .meta({ isLarge: true })
    .output(SkillPage)
    .query(({ ctx, input }) => listSkills(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/skills/{skill_id}", { tag, summary: "Read a skill" }))
    .input(SkillRef)
    .output(Skill)
    .query(({ ctx, input }) => getSkill(ctx.principal, input)),
  create: editorProcedure
    .input(CreateSkillInput)
    .output(Skill)
    .mutation(({ ctx, input }) => createSkill(ctx.principal, input)),
  update: editorProcedure
    .input(UpdateSkillInput)
    .output(Skill)
    .mutation(({ ctx, input }) => updateSkill(ctx.principal, input)),
  delete: editorProcedure
    .input(SkillRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteSkill(ctx.principal, input)),
});
