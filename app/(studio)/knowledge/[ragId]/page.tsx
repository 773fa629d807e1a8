import type { Metadata } from "next";
import { SourcePage } from "#components/knowledge/source-page.tsx";

export const metadata: Metadata = { title: "Knowledge source" };

export default async function Page({ params }: { params: Promise<{ ragId: string }> }) {
  const { ragId } = await params;
  return <SourcePage ragId={ragId} />;
}
