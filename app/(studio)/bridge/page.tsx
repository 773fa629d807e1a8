import type { Metadata } from "next";
import { Suspense } from "react";
import { AssistantPage } from "#components/assistant/assistant-page.tsx";

export const metadata: Metadata = { title: "Assistant" };

export default function Page() {
  return (
    <Suspense>
      <AssistantPage />
    </Suspense>
  );
}
