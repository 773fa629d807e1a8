import {
  BookOpenText,
  Bot,
  GraduationCap,
  House,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Play,
  Plug,
  Settings,
  Sparkles,
  UserRoundCheck,
  Workflow,
} from "lucide-react";
import { ASSISTANT_PAGE } from "#components/shell/assistant.tsx";

export interface NavItem {
  href: string;
  label: string;
  icon: LucideIcon;
  /** Pages under this path belong to it too; left out, those under `href`. */
  section?: string;
  /** What its badge counts. */
  counts?: "reviews" | "failures";
}

export const navItems: readonly NavItem[] = [
  { href: "/", label: "Home", icon: House },
  { href: ASSISTANT_PAGE, label: "Assistant", icon: Sparkles },
  { href: "/workflows", label: "Workflows", icon: Workflow },
  { href: "/agents", label: "Agents", icon: Bot },
  { href: "/knowledge", label: "Knowledge", icon: BookOpenText },
  { href: "/skills", label: "Skills", icon: GraduationCap },
  { href: "/mcp", label: "MCP servers", icon: Plug },
  { href: "/canvases", label: "Canvases", icon: LayoutDashboard },
  { href: "/runs", label: "Runs", icon: Play, counts: "failures" },
  { href: "/approvals", label: "Approvals", icon: UserRoundCheck, counts: "reviews" },
  { href: "/keys", label: "LLM keys", icon: KeyRound },
];

export const settingsItem: NavItem = { href: "/settings/project", label: "Settings", icon: Settings, section: "/settings" };

/** Whether a page at `pathname` belongs to the item. */
export const isCurrent = ({ href, section = href }: NavItem, pathname: string): boolean =>
  section === "/" ? pathname === "/" : pathname === section || pathname.startsWith(`${section}/`);
