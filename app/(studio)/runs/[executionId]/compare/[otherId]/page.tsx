import type { Metadata } from "next";
import { ComparePage } from "#components/runs/compare/compare-page.tsx";

export const metadata: Metadata = { title: "Compare runs" };

export default async function Page({ params }: { params: Promise<{ executionId: string; otherId: string }> }) {
  const { executionId, otherId } = await params;
  return <ComparePage executionId={executionId} otherId={otherId} />;
}
