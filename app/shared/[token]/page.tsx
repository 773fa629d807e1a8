import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { server, serverCaller } from "#app/server.ts";
import { SharedCanvasPage } from "#components/canvases/shared-canvas-page.tsx";
import { ApiProvider } from "#components/trpc.tsx";

// Whoever has the address sees the canvas, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Canvas", robots: { index: false, follow: false }, referrer: "same-origin" };

/** A canvas as its link shows it, for whoever has the link. */
export default async function Page({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [{ appErrorOf }, { caller }] = await Promise.all([server(), serverCaller()]);
  const shown = await caller.canvases.shared({ token }).catch((error: unknown) => {
    if (["NOT_FOUND", "VALIDATION_ERROR"].includes(appErrorOf(error).code)) return null;
    throw error;
  });
  if (!shown) notFound();
  return (
    <ApiProvider projectId={null}>
      <SharedCanvasPage token={token} initial={shown} />
    </ApiProvider>
  );
}
