import type { Prisma, Project } from "#prisma/generated/client.ts";
import { AppError } from "#server/errors.ts";
import { freeSlug, holdAccount } from "#server/services/projects/free-slug.ts";
import { settings } from "#server/settings.ts";

const LONGEST = 60;

/** A name as a slug: `Équipe Vente 2` becomes `equipe-vente-2`; a name without any Latin letter or digit becomes `project`. */
function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST - 5)
    .replace(/^-+|-+$/g, "");
  return slug || "project";
}

/**
 * Adds a project with its owner as admin.
 * @param slug as the owner wants it; made of the name when left out
 * @throws AppError CONFLICT when the owner has a project of that slug, or as many as PROJECTS_PER_USER allows
 */
export async function insertProject(
  within: Prisma.TransactionClient,
  ownerId: string,
  { name, slug }: { name: string; slug?: string | undefined },
): Promise<Project> {
  // One creation at a time for each owner, so that two at once cannot find the same slug free, nor the last place.
  await holdAccount(within, ownerId);
  const { PROJECTS_PER_USER } = settings();
  if (PROJECTS_PER_USER > 0 && (await within.project.count({ where: { owner_id: ownerId } })) >= PROJECTS_PER_USER)
    throw new AppError(
      "CONFLICT",
      `You own ${PROJECTS_PER_USER} projects, which is the most here. Delete one first, or have the operator raise PROJECTS_PER_USER.`,
    );
  const free = await freeSlug(within, ownerId, slug ?? slugOf(name));
  if (slug !== undefined && free !== slug) throw slugTaken(slug);
  return within.project.create({
    data: { name, slug: free, owner_id: ownerId, memberships: { create: { user_id: ownerId, role: "admin" } } },
  });
}

export const slugTaken = (slug: string): AppError =>
  new AppError("CONFLICT", `You have a project with the slug ${slug} already: choose another one.`);
