import type { Metadata } from "next";
import { RunPage } from "#components/runs/run-page.tsx";

export const metadata: Metadata = { title: "Run" };

export default async function Page({ params }: { params: Promise<{ executionId: string }> }) {
  const { executionId } = await params;
  return <RunPage executionId={executionId} />;
}
