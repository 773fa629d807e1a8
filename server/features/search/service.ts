import { Prisma } from "#prisma/generated/client.ts";
import { searchGuide } from "#server/features/assistant/guide.ts";
import { type SearchHit, type SearchInput, type SearchKind, type SearchResult, searchKinds } from "#server/features/search/schema.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import { placeOf, textQuery } from "#server/features/workflows/texts.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { idRange } from "#server/platform/new-id.ts";
import { beginsWith, hasExactWords, hasWords, wordsOf } from "#server/platform/search-words.ts";
import { containsWords } from "#server/shared/fold-text.ts";
import { Graph } from "#server/workflow/schema.ts";

interface Found {
  kind: SearchKind;
  id: string;
  title: string;
  detail: string | null;
  /** What leads to it, where its own id does not. */
  parent: string | null;
  /** 0: the name begins with the search; 2: the name contains it; 4: another text does. 1 more with other accents. */
  rank: number;
}

interface Source {
  /** Tables and the condition that keeps to the project. */
  from: Prisma.Sql;
  id: Prisma.Sql;
  title: Prisma.Sql;
  detail?: Prisma.Sql;
  parent?: Prisma.Sql;
  /** What of it is searched. */
  where: Prisma.Sql;
}

const sql = Prisma.sql;

/** How each kind that rows are kept of is searched. @param id as `idRange` gives it */
function sourcesOf(project_id: string, q: string, id: readonly [string, string] | null): Partial<Record<SearchKind, Source>> {
  const inProject = sql`x.project_id = ${project_id}::uuid`;
  const named = { id: sql`x.id`, title: sql`x.name` };
  const withDescription = {
    ...named,
    detail: sql`nullif(x.description, '')`,
    where: hasWords(q, sql`concat_ws(' ', x.name, x.description)`),
  };
  const byName = hasWords(q, sql`x.name`);
  const seen = sql`concat_ws(' ', x.name, x.description, x.folder, array_to_string(x.tags, ' '))`;
  const inText = sql`SELECT t.workflow_id FROM workflow_texts t WHERE t.search @@ to_tsquery('simple', ${textQuery(q)})`;
  return {
    workflow: {
      ...named,
      from: sql`workflows x WHERE ${inProject} AND x.deleted_at IS NULL`,
      detail: sql`CASE WHEN ${hasWords(q, seen)} THEN coalesce(nullif(x.description, ''), x.folder, '') END`,
      where: sql`(${hasWords(q, seen)} OR x.id IN (${inText}))`,
    },
    agent: { ...withDescription, from: sql`agents x WHERE ${inProject}` },
    canvas: { ...named, from: sql`canvases x WHERE ${inProject}`, where: byName },
    knowledge: { ...named, from: sql`rag_sources x WHERE ${inProject}`, where: byName },
    document: {
      id: sql`d.id`,
      title: sql`d.title`,
      detail: sql`x.name`,
      parent: sql`x.id::text`,
      from: sql`rag_documents d JOIN rag_sources x ON x.id = d.rag_source_id WHERE ${inProject}`,
      where: hasWords(q, sql`d.title`),
    },
    skill: { ...withDescription, from: sql`skills x WHERE ${inProject}` },
    mcp_server: {
      ...named,
      detail: sql`x.url`,
      from: sql`mcp_servers x WHERE ${inProject}`,
      where: hasWords(q, sql`concat_ws(' ', x.name, x.url)`),
    },
    credential: { ...named, from: sql`credentials x WHERE ${inProject}`, where: byName },
    llm_key: { ...named, detail: sql`x.provider`, from: sql`llm_keys x WHERE ${inProject}`, where: byName },
    ...(id && {
      run: {
        id: sql`x.id`,
        title: sql`w.name`,
        detail: sql`x.status::text || ' · ' || x.id::text`,
        from: sql`executions x JOIN workflows w ON w.id = x.workflow_id WHERE ${inProject}`,
        where: sql`x.id BETWEEN ${id[0]}::uuid AND ${id[1]}::uuid`,
      },
    }),
  };
}

/** Where the web app shows what was found. */
const paths: Record<Exclude<SearchKind, "guide">, (found: Found) => string> = {
  workflow: ({ id, parent }) => `/workflows/${id}${parent === null ? "" : `?node=${encodeURIComponent(parent)}`}`,
  agent: ({ id }) => `/agents/${id}`,
  canvas: ({ id }) => `/canvases/${id}`,
  knowledge: ({ id }) => `/knowledge/${id}`,
  document: ({ id, parent }) => `/knowledge/${parent}?document=${id}`,
  skill: ({ title }) => `/skills?q=${encodeURIComponent(title)}`,
  mcp_server: ({ id }) => `/mcp/${id}`,
  credential: ({ title }) => `/credentials?q=${encodeURIComponent(title)}`,
  llm_key: ({ title }) => `/keys?q=${encodeURIComponent(title)}`,
  run: ({ id }) => `/runs/${id}`,
};

/** Those found by what stands in a node, with that node. */
async function withPlaces(found: Found[], q: string): Promise<Found[]> {
  const inNodes = found.filter(({ kind, detail }) => kind === "workflow" && detail === null);
  if (inNodes.length === 0) return found;
  const ids = inNodes.map(({ id }) => id);
  const rows = await db().$queryRaw<{ id: string; graph: unknown }[]>`
    SELECT w.id, s.graph FROM workflows w JOIN workflow_snapshots s ON s.id = w.snapshot_id WHERE w.id = ANY(${ids}::uuid[])`;
  const places = new Map(rows.map(({ id, graph }) => [id, placeOf(Graph.parse(graph), q)]));
  return found.map((one) => {
    const place = inNodes.includes(one) ? places.get(one.id) : null;
    const detail = !place ? null : place.text === place.label ? `Node ${place.label}` : `${place.label} · ${place.text}`;
    return place ? { ...one, detail, parent: place.node_id } : one;
  });
}

const builtinFound = (q: string): Found[] =>
  builtinSkills
    .filter(({ name, description }) => containsWords(`${name} ${description}`, q))
    .map(({ id, name, description }) => ({ kind: "skill", id, title: name, detail: description, parent: null, rank: 4 }));

/** A line of Markdown as it reads, without its marks. */
const plain = (markdown: string): string =>
  markdown
    .replace(/```.*?(```|$)/gs, " ")
    .replace(/<[^<>]*>|[`*|#]|-{3,}/g, " ")
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();

/** Of the guide only what has each word, if with another ending. */
const guideFound = (q: string, limit: number): SearchHit[] => {
  const stems = wordsOf(q).map((word) => word.slice(0, Math.max(3, word.length - 2)));
  return searchGuide(q, 2 * limit)
    .filter(({ title, text }) => containsWords(`${title} ${text}`, stems.join(" ")))
    .slice(0, limit)
    .map(({ path, title, text }) => ({ kind: "guide", id: path, title, detail: plain(text).slice(0, 120), path }));
};

/**
 * Looks for words in all that a project has, in one query of the database; what was found by its name comes first.
 * @throws nothing of its own: what does not exist is not found
 */
export async function search({ project }: ProjectPrincipal, { q, kinds, limit }: SearchInput): Promise<SearchResult> {
  const wanted: readonly string[] = kinds?.split(",") ?? searchKinds;
  const sources = Object.entries(sourcesOf(project.id, q, idRange(q))).filter(([kind]) => wanted.includes(kind));
  const parts = sources.map(
    ([kind, { from, id, title, detail = sql`NULL`, parent = sql`NULL`, where }]) => sql`(
      SELECT ${kind} AS kind, ${id}::text AS id, ${title} AS title, ${detail}::text AS detail, ${parent}::text AS parent,
        CASE WHEN ${beginsWith(q, title)} THEN 0 WHEN ${hasWords(q, title)} THEN 2 ELSE 4 END
          + CASE WHEN ${hasExactWords(q, title)} THEN 0 ELSE 1 END AS rank
      FROM ${from} AND ${where} ORDER BY rank, ${id} DESC LIMIT ${limit})`,
  );
  const rows = parts.length ? await db().$queryRaw<Found[]>`${Prisma.join(parts, " UNION ALL ")}` : [];
  const found = await withPlaces(rows, q);
  if (wanted.includes("skill"))
    found.push(...builtinFound(q).slice(0, Math.max(0, limit - found.filter(({ kind }) => kind === "skill").length)));
  const items = searchKinds.flatMap((kind): SearchHit[] => {
    if (kind === "guide") return wanted.includes(kind) ? guideFound(q, limit) : [];
    const ofKind = found.filter((one) => one.kind === kind).sort((a, b) => a.rank - b.rank);
    return ofKind.map((one) => ({ kind, id: one.id, title: one.title, detail: one.detail || null, path: paths[kind](one) }));
  });
  return { items };
}
