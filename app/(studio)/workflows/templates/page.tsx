import type { Metadata } from "next";
import { projectCaller } from "#app/server.ts";
import { GraphPicture } from "#components/workflows/graph-picture.tsx";
import { TemplatesPage } from "#components/workflows/templates-page.tsx";

export const metadata: Metadata = { title: "Templates" };

/** The pictures come drawn: what draws them knows every type of node, and no browser needs that for a look at the gallery. */
export default async function Page() {
  const templates = await projectCaller().then((caller) => caller?.workflowFiles.templates({}).catch(() => null));
  const pictures = templates?.items.map(
    ({ id, file }) => [id, <GraphPicture key={id} graph={file} className="woven h-32 border-b bg-paper p-3" />] as const,
  );
  return <TemplatesPage pictures={Object.fromEntries(pictures ?? [])} />;
}
