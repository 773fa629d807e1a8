"use client";

import { ChevronsUpDown, LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";
import { useRouter } from "next/navigation";
import { signOutHere } from "#components/shell/sign-out-here.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTheme } from "#components/shell/use-theme.ts";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "#components/ui/menu.tsx";

export function UserMenu() {
  const { user } = useStudio();
  const router = useRouter();
  const [theme, setTheme] = useTheme();
  return (
    <Menu
      align="start"
      side="top"
      className="w-56"
      trigger={
        <button
          type="button"
          aria-label={`Account of ${user.name}`}
          className="flex h-9 w-full items-center gap-2 rounded-md px-1.5 text-left transition-colors hover:bg-hover data-[state=open]:bg-hover max-md:h-11 rail:px-1"
        >
          <span aria-hidden className="grid size-6 shrink-0 place-items-center rounded-full bg-press font-semibold text-12 text-ink">
            {user.name.trim().charAt(0).toUpperCase()}
          </span>
          <span className="min-w-0 flex-1 truncate text-14 text-ink rail:hidden">{user.name}</span>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint rail:hidden" />
        </button>
      }
    >
      <MenuLabel>{user.email}</MenuLabel>
      <MenuItem icon={<UserRound />} onSelect={() => router.push("/settings/profile")}>
        Profile
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>Theme</MenuLabel>
      <MenuChoice
        label="Theme"
        value={theme}
        onValueChange={setTheme}
        options={[
          { value: "system", label: "System", icon: <Monitor /> },
          { value: "light", label: "Light", icon: <Sun /> },
          { value: "dark", label: "Dark", icon: <Moon /> },
        ]}
      />
      <MenuSeparator />
      <MenuItem icon={<LogOut />} onSelect={() => void signOutHere()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
