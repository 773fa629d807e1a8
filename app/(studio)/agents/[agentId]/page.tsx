import type { Metadata } from "next";
import { AgentPage } from "#components/agents/agent-page.tsx";

export const metadata: Metadata = { title: "Agent" };

export default async function Page({ params }: { params: Promise<{ agentId: string }> }) {
  const { agentId } = await params;
  return <AgentPage agentId={agentId} />;
}
