import type { Metadata } from "next";
import { Suspense } from "react";
import { BudgetSettings } from "#components/settings/budget-settings.tsx";
import { PriceSettings } from "#components/settings/price-settings.tsx";

export const metadata: Metadata = { title: "Budgets" };

/** What is to be set may stand in the address, which is known in the browser only. */
export default function BudgetsPage() {
  return (
    <Suspense>
      <BudgetSettings />
      <PriceSettings />
    </Suspense>
  );
}
