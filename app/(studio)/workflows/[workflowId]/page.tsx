import type { Metadata } from "next";
import { EditorPage } from "#components/workflow-editor/editor-page.tsx";

export const metadata: Metadata = { title: "Workflow" };

export default async function Page({ params }: { params: Promise<{ workflowId: string }> }) {
  const { workflowId } = await params;
  return <EditorPage workflowId={workflowId} />;
}
