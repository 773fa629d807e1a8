import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { Logo } from "#components/shell/logo.tsx";

/** In place of a canvas whose link has ended, or never was. */
export default function NothingShared() {
  return (
    <main className="woven relative flex min-h-dvh flex-col items-center justify-center gap-6 px-4">
      <Logo className="text-18 [&>svg]:size-7" />
      <div className="w-full max-w-100 rounded-lg border border-line-strong bg-raised p-7 shadow-md">
        <EntryHeading title="This link cannot be used">
          It has ended, or the URL is incomplete. Ask the person who shared it for a new link.
        </EntryHeading>
      </div>
    </main>
  );
}
