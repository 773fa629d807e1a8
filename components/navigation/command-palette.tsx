"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  BookOpen,
  BookOpenText,
  Bot,
  Clock,
  CornerDownRight,
  FileText,
  FolderSync,
  GraduationCap,
  KeyRound,
  LayoutDashboard,
  LayoutTemplate,
  LockKeyhole,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  Play,
  Plug,
  Plus,
  Search,
  Settings,
  Sparkles,
  Sun,
  UserPlus,
  Workflow,
} from "lucide-react";
import { usePathname, useRouter } from "next/navigation";
import { Dialog as Radix } from "radix-ui";
import { useMemo, useRef } from "react";
import { closePalette, setPaletteText, usePalette } from "#components/navigation/palette-state.ts";
import { navItems } from "#components/navigation/places.ts";
import { useAssistant } from "#components/shell/assistant.tsx";
import { usePageCommands } from "#components/shell/commands.ts";
import { openProject } from "#components/shell/project-cookie.ts";
import { recentPages } from "#components/shell/recent-pages.ts";
import { installSettings, personalSettings, projectSettings } from "#components/shell/settings-pages.ts";
import { signOutHere } from "#components/shell/sign-out-here.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTheme } from "#components/shell/use-theme.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { useFocusReturn } from "#components/ui/dialog.tsx";
import { Kbd, MOD } from "#components/ui/kbd.tsx";
import { SearchList, type SearchOption } from "#components/ui/search-list.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import type { SearchHit } from "#server/features/search/schema.ts";
import { foldAccents } from "#server/shared/fold-text.ts";

const PAUSE_MS = 120;
const FRESH_MS = 15_000;
/** Of a kind, beside others; things to do that fit, and pages that were opened last. */
const EACH = 5;
const MOST_ACTIONS = 6;
const MOST_RECENT = 5;

const kinds: Record<SearchHit["kind"], { title: string; icon: LucideIcon }> = {
  workflow: { title: "Workflows", icon: Workflow },
  agent: { title: "Agents", icon: Bot },
  canvas: { title: "Canvases", icon: LayoutDashboard },
  knowledge: { title: "Knowledge", icon: BookOpenText },
  document: { title: "Documents", icon: FileText },
  skill: { title: "Skills", icon: GraduationCap },
  mcp_server: { title: "MCP servers", icon: Plug },
  credential: { title: "Credentials", icon: LockKeyhole },
  llm_key: { title: "LLM keys", icon: KeyRound },
  run: { title: "Runs", icon: Play },
  guide: { title: "Guide", icon: BookOpen },
};

/** Where all of a kind are searched. */
const lists: Partial<Record<SearchHit["kind"], string>> = {
  workflow: "/workflows",
  agent: "/agents",
  canvas: "/canvases",
  knowledge: "/knowledge",
  skill: "/skills",
  mcp_server: "/mcp",
  credential: "/credentials",
  llm_key: "/keys",
  guide: "/docs/search",
};

interface Choice extends SearchOption {
  /** What else it may be looked for by. */
  words?: string;
  run: () => void;
}

/** Whether each word of a search begins a word of a text. */
function fits(text: string, q: string): boolean {
  const known = foldAccents(text).split(/[\s·/-]+/);
  return foldAccents(q)
    .split(/\s+/)
    .every((word) => known.some((one) => one.startsWith(word)));
}

const icon = (Icon: LucideIcon) => <Icon aria-hidden />;

/** What can be done from everywhere, and where one can go. */
function useActions(): Choice[] {
  const { user, project, projects, canEdit, canAdminister } = useStudio();
  const { client } = useApi();
  const router = useRouter();
  const { open } = useAssistant();
  const [theme, setTheme] = useTheme();
  const go = (path: string) => () => router.push(path);
  const make = (what: string, create: () => Promise<string>) => () => {
    create().then(
      (path) => router.push(path),
      (error: unknown) => toast.error(`No ${what} was created`, { description: errorBodyOf(error).detail }),
    );
  };
  const newWorkflow = async () => `/workflows/${(await client.workflows.create.mutate({ name: "Untitled workflow" })).id}`;
  const newCanvas = async () => `/canvases/${(await client.canvases.create.mutate({ name: "Untitled canvas" })).id}`;
  const action = (label: string, Icon: LucideIcon, run: () => void, more: Partial<Choice> = {}): Choice => ({
    ...{ id: `do ${label}`, label, group: "Do", icon: icon(Icon), run },
    ...more,
  });
  const place = (label: string, path: string, Icon: LucideIcon, words = ""): Choice => ({
    ...{ id: `go ${path}`, label, group: "Go to", icon: icon(Icon), words: `go to open ${words}`, run: go(path) },
  });
  return [
    ...(canEdit
      ? [
          action("New workflow", Plus, make("workflow", newWorkflow), { words: "create add" }),
          action("New workflow from a template", LayoutTemplate, go("/workflows/templates"), { words: "create add gallery" }),
          action("New agent", Plus, go("/agents/new"), { words: "create add" }),
          action("New canvas", Plus, make("canvas", newCanvas), { words: "create add dashboard" }),
        ]
      : []),
    ...(canAdminister ? [action("Invite people", UserPlus, go("/settings/members?invite"), { words: "add member" })] : []),
    action("Ask the assistant", Sparkles, () => open(), { shortcut: [MOD, "J"], words: "chat help" }),
    ...projects
      .filter(({ id }) => id !== project.id)
      .map(({ id, name }) =>
        action(`Switch to ${name}`, FolderSync, () => openProject(id), { id: `project ${id}`, words: "project change open" }),
      ),
    ...(theme === "light" ? [] : [action("Light theme", Sun, () => setTheme("light"), { words: "appearance bright mode" })]),
    ...(theme === "dark" ? [] : [action("Dark theme", Moon, () => setTheme("dark"), { words: "appearance night mode" })]),
    ...(theme === "system" ? [] : [action("Theme of the system", Monitor, () => setTheme("system"), { words: "appearance auto mode" })]),
    action("Sign out", LogOut, () => void signOutHere(), { words: "log leave" }),
    ...navItems.map(({ href, label, icon: Icon }) => place(label, href, Icon)),
    place("Project settings", "/settings/project", Settings),
    ...[...personalSettings, ...projectSettings.slice(1), ...(user.isInstallAdmin ? installSettings : [])].map(
      ({ href, label, words = "" }) => place(label, href, Settings, `settings ${words}`),
    ),
    place("Guide", "/docs", BookOpen, "help docs"),
    place("API reference", "/docs/api", BookOpen, "rest docs"),
  ];
}

/** Everything by its name: objects, what the page and the studio do, the guide. What was opened last stands first. */
export function CommandPalette() {
  const { text } = usePalette();
  const { project } = useStudio();
  const { trpc } = useApi();
  const router = useRouter();
  const path = usePathname();
  const focusReturn = useFocusReturn();
  const q = useDebounced(text.trim(), PAUSE_MS);
  const found = useQuery(
    trpc.search.find.queryOptions({ q, limit: EACH }, { enabled: q !== "", placeholderData: keepPreviousData, staleTime: FRESH_MS }),
  );
  const actions = useActions();
  const ofPage = usePageCommands().map(
    ({ label, icon: Icon = CornerDownRight, shortcut, run }): Choice => ({
      ...{ id: `here ${label}`, label, group: "On this page", icon: icon(Icon), run },
      ...(shortcut && { shortcut }),
    }),
  );
  const recent = useMemo(() => recentPages(project.id), [project.id]);
  const typed = text.trim();
  const lately = recent
    .filter((page) => page.path !== path)
    .map(
      (page): Choice => ({
        id: `recent ${page.path}`,
        label: page.title,
        group: "Recent",
        icon: icon(Clock),
        run: () => router.push(page.path),
      }),
    );

  const searchIn = (group: string, list: string, label: string): Choice => ({
    ...{ id: `search ${list}`, label: `${label} with “${typed}”`, group, icon: icon(Search) },
    run: () => router.push(`${list}?q=${encodeURIComponent(typed)}`),
  });

  let options: Choice[];
  if (typed === "") options = [...lately.slice(0, MOST_RECENT), ...ofPage, ...actions];
  else {
    const chosen = lately.filter(({ label }) => fits(label, typed)).slice(0, 2);
    const isListed = (hit: SearchHit) => chosen.some(({ id }) => id === `recent ${hit.path}`);
    const items = q === "" ? [] : (found.data?.items ?? []);
    const hits = items
      .filter((hit) => !isListed(hit))
      .flatMap((hit, at, all): Choice[] => {
        const { title, icon: Icon } = kinds[hit.kind];
        const choice: Choice = {
          ...{ id: `${hit.kind} ${hit.id}`, label: hit.kind === "run" ? `Run of ${hit.title}` : hit.title, group: title },
          ...{ detail: hit.detail, icon: icon(Icon), run: () => router.push(hit.path) },
        };
        // As many as were asked for: there may be more.
        const list = items.filter(({ kind }) => kind === hit.kind).length >= EACH && all[at + 1]?.kind !== hit.kind && lists[hit.kind];
        return list ? [choice, searchIn(title, list, `All in ${title}`)] : [choice];
      });
    const todo = [...ofPage, ...actions].filter(({ label, words = "" }) => fits(`${label} ${words}`, typed));
    // What begins with the words that were typed is meant before what only has them.
    const isMeant = ({ label }: Choice) => foldAccents(label).startsWith(foldAccents(typed));
    const first = todo.filter(isMeant).slice(0, MOST_ACTIONS);
    const rest = todo.filter((choice) => !first.includes(choice)).slice(0, MOST_ACTIONS - first.length);
    const guide = hits.filter(({ group }) => group === kinds.guide.title);
    options = [
      ...chosen,
      ...first,
      ...hits.filter((hit) => !guide.includes(hit)),
      // What runs were given, what they answered and why they failed is too much to look through at each letter.
      ...(found.isError ? [] : [searchIn(kinds.run.title, "/runs", "Runs")]),
      ...rest.map((choice) => ({ ...choice, group: "More to do" })),
      ...guide,
    ];
  }
  const isStale = typed !== q || (q !== "" && (found.isPending || found.isPlaceholderData) && !found.isError);
  const isPicked = useRef(false);
  return (
    <Radix.Root open onOpenChange={(isOpen) => !isOpen && closePalette()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 flex animate-appear items-start justify-center bg-scrim p-4 pt-[12vh] max-sm:p-0">
          <Radix.Content
            {...focusReturn}
            aria-describedby={undefined}
            className="flex max-h-[min(32rem,76vh)] w-full max-w-160 flex-col overflow-hidden rounded-lg border border-line-strong bg-raised text-14 text-ink shadow-lg max-sm:max-h-dvh max-sm:rounded-t-none"
          >
            <Radix.Title className="sr-only">Search and commands</Radix.Title>
            <SearchList
              label="Search, or say what to do"
              text={text}
              onTextChange={setPaletteText}
              options={options}
              isStale={isStale}
              onPick={({ run }) => {
                if (isPicked.current) return;
                isPicked.current = true;
                closePalette();
                // When the palette is gone and the focus is back: what it opens takes the focus from there.
                setTimeout(run);
              }}
              onClose={closePalette}
              empty={
                found.isError ? errorBodyOf(found.error).detail : `Nothing here is called “${typed}”, and nothing in it has these words.`
              }
              footer={
                <span data-keys className="flex flex-wrap gap-x-4 gap-y-1">
                  <span className="flex items-center gap-1">
                    <Kbd>↑</Kbd>
                    <Kbd>↓</Kbd> choose
                  </span>
                  <span className="flex items-center gap-1">
                    <Kbd>Enter</Kbd> open
                  </span>
                  <span className="flex items-center gap-1">
                    <Kbd>Esc</Kbd> close
                  </span>
                </span>
              }
              className="flex-1"
            />
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  );
}
