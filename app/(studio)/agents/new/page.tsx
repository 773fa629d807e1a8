import type { Metadata } from "next";
import { NewAgentPage } from "#components/agents/agent-page.tsx";

export const metadata: Metadata = { title: "New agent" };

export default NewAgentPage;
