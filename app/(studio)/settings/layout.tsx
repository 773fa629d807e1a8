import type { ReactNode } from "react";
import { SettingsNav } from "#components/settings/settings-nav.tsx";
import { Page } from "#components/shell/page.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <Page>
      <PageHeader title="Settings" />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-x-10 gap-y-6 lg:grid-cols-[10rem_minmax(0,48rem)]">
        <SettingsNav />
        <div className="flex min-w-0 flex-col gap-10 max-lg:pt-2">{children}</div>
      </div>
    </Page>
  );
}
