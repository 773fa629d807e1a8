import type { Metadata } from "next";
import { AssistantPage } from "#components/assistant/assistant-page.tsx";

export const metadata: Metadata = { title: "Assistant" };

export default function Page() {
  return <AssistantPage />;
}
