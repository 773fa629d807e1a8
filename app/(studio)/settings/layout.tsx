import type { ReactNode } from "react";
import { SettingsTabs } from "#components/settings/settings-tabs.tsx";
import { Page } from "#components/shell/page.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <Page width="narrow">
      <PageHeader title="Settings" />
      <SettingsTabs />
      <div className="flex flex-col gap-10 pt-2">{children}</div>
    </Page>
  );
}
