"use client";

import { useState } from "react";
import { ReviewFilters, readFilters } from "#components/approvals/review-filters.tsx";
import { ReviewTriage } from "#components/approvals/review-triage.tsx";
import { useWaitingCount } from "#components/approvals/use-waiting-count.ts";
import { Page } from "#components/shell/page.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Tabs } from "#components/ui/tabs.tsx";

type Tab = "waiting" | "decided";

/** What waits for somebody's decision in the project, and what was decided. Tab, filters, page and the review that is read stand in the address. */
export function ApprovalsPage() {
  const { query, setQuery, page } = useUrlQuery();
  const count = useWaitingCount();
  // Until when "within a day" is; not moved while one looks on, or the list would be read again and again.
  const [now] = useState(() => Date.now());
  const tab: Tab = query.get("tab") === "decided" ? "decided" : "waiting";
  const review = query.get("review");
  const filters = readFilters(query);
  const panel = (status: Tab) => (
    <ReviewTriage
      key={status}
      status={status}
      page={status === tab ? page : 1}
      filters={filters}
      now={now}
      isShown={status === tab}
      reviewId={status === tab ? review : null}
      onShow={(id) => setQuery({ review: id ?? undefined })}
      onPageChange={(next) => setQuery({ page: next > 1 ? String(next) : undefined, review: undefined })}
    />
  );
  return (
    <Page width="wide" className="gap-4">
      <PageHeader title="Approvals" className={review ? "max-[1100px]:hidden" : ""} />
      <Tabs
        label="Approvals"
        value={tab}
        onValueChange={(next) => setQuery({ tab: next === "decided" ? next : undefined, page: undefined, review: undefined })}
        className="-mt-2"
        panelClassName="pt-3 focus:outline-none"
        actions={
          <ReviewFilters
            filters={filters}
            isDecided={tab === "decided"}
            onChange={(changes) => setQuery({ ...changes, page: undefined })}
          />
        }
        tabs={[
          {
            value: "waiting",
            label: (
              <>
                Waiting
                {count > 0 && <span className="ml-1.5 font-normal text-ink-faint tabular">{count}</span>}
              </>
            ),
            content: panel("waiting"),
          },
          { value: "decided", label: "Decided", content: panel("decided") },
        ]}
      />
    </Page>
  );
}
