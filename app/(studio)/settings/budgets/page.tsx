import type { Metadata } from "next";
import { BudgetSettings } from "#components/settings/budget-settings.tsx";
import { PriceSettings } from "#components/settings/price-settings.tsx";

export const metadata: Metadata = { title: "Budgets" };

export default function BudgetsPage() {
  return (
    <>
      <BudgetSettings />
      <PriceSettings />
    </>
  );
}
