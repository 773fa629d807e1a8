import type { Metadata } from "next";
import { AgentsPage } from "#components/agents/agents-page.tsx";

export const metadata: Metadata = { title: "Agents" };

export default AgentsPage;
