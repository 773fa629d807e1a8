import type { Metadata } from "next";
import { ForkPage } from "#components/workflow-editor/fork/fork-page.tsx";

export const metadata: Metadata = { title: "Fork a run" };

export default async function Page({ params }: { params: Promise<{ executionId: string }> }) {
  const { executionId } = await params;
  return <ForkPage executionId={executionId} />;
}
