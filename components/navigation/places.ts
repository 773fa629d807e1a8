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

export interface SettingsPage {
  href: string;
  label: string;
  /** What else it may be looked for by. */
  words?: string;
}

export const personalSettings: readonly SettingsPage[] = [
  { href: "/settings/profile", label: "Profile", words: "account name language time zone" },
  { href: "/settings/security", label: "Security", words: "password second factor two-factor 2fa totp" },
  { href: "/settings/sessions", label: "Sessions", words: "devices sign out" },
  { href: "/settings/notifications", label: "Notifications", words: "mail" },
  { href: "/settings/api-keys", label: "API keys", words: "tokens" },
];
export const projectSettings: readonly SettingsPage[] = [
  { href: "/settings/project", label: "General" },
  { href: "/settings/members", label: "Members", words: "people roles invitations" },
  { href: "/settings/limits", label: "Limits" },
  { href: "/settings/usage", label: "Usage", words: "costs tokens" },
  { href: "/settings/budgets", label: "Budgets", words: "costs spending prices" },
  { href: "/settings/credentials", label: "Credentials", words: "secrets" },
  { href: "/settings/service-accounts", label: "Service accounts", words: "keys" },
  { href: "/settings/audit", label: "Audit log", words: "history" },
];
export const installSettings: readonly SettingsPage[] = [{ href: "/settings/install", label: "Install", words: "server admin" }];

/** Whether a page at `pathname` belongs to the item. */
export const isCurrent = ({ href, section = href }: NavItem, pathname: string): boolean =>
  section === "/" ? pathname === "/" : pathname === section || pathname.startsWith(`${section}/`);
