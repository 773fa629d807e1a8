import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { server, serverCaller } from "#app/server.ts";
import { SharedCanvasPage } from "#components/canvases/shared-canvas-page.tsx";
import { ApiProvider } from "#components/trpc.tsx";

// The address is what lets one in, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Canvas", robots: { index: false, follow: false }, referrer: "no-referrer" };

/** A canvas for whoever has its link: what the widgets show, and nothing that leads further. */
export default async function Page({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [{ appErrorOf }, { caller }] = await Promise.all([server(), serverCaller()]);
  const found = await caller.canvases.shared({ token }).then(
    (canvas) => ({ canvas, problem: null }),
    (error: unknown) => ({ canvas: null, problem: appErrorOf(error) }),
  );
  if (found.problem?.code === "NOT_FOUND" || found.problem?.code === "VALIDATION_ERROR") notFound();
  return (
    <ApiProvider projectId={null}>
      <SharedCanvasPage token={token} initial={found.canvas} problem={found.problem?.message ?? null} />
    </ApiProvider>
  );
}
