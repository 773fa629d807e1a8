"use client";

import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Select } from "#components/ui/select.tsx";
import { type Assignee, DECIDING_ROLES } from "#server/workflow/nodes/review-terms.ts";

export interface AssigneesFieldProps {
  /** Those who are named. */
  value: readonly Assignee[];
  /** How many there may be. */
  most: number;
  isReadOnly: boolean;
  onChange: (value: Assignee[]) => void;
}

const ROLES = { approver: "Approvers", editor: "Editors", admin: "Admins" } as const satisfies Record<
  (typeof DECIDING_ROLES)[number],
  string
>;

/** Most members that are offered; others are named over REST or by a role. */
const MOST_MEMBERS = 200;
const keyOf = ({ kind, value }: Assignee) => `${kind}:${value}`;

/** People and roles of the project: each that is named, and a list to name more. */
export function AssigneesField({ value, most, isReadOnly, onChange }: AssigneesFieldProps) {
  const trpc = useTRPC();
  const { project } = useStudio();
  const members = useQuery(trpc.projects.members.queryOptions({ project_id: project.id, per_page: MOST_MEMBERS }));
  const people = members.data?.items ?? [];
  const nameOf = ({ kind, value: who }: Assignee): string => {
    if (kind === "role") return ROLES[who as keyof typeof ROLES] ?? who;
    const person = people.find(({ user_id, email }) => user_id === who || email === who.toLowerCase());
    return person?.name ?? (members.isPending ? "…" : who.includes("@") ? who : "Former member");
  };
  const options = [
    ...DECIDING_ROLES.map((role) => ({ value: `role:${role}`, label: ROLES[role], description: "Everybody with this role" })),
    ...people.flatMap(({ user_id, name, email, role }) =>
      role === "viewer" ? [] : [{ value: `user:${user_id}`, label: name, description: email }],
    ),
  ].filter((option) => !value.some((one) => keyOf(one) === option.value));
  const add = (chosen: string) => {
    const [kind, who = ""] = chosen.split(":");
    onChange([...value, { kind: kind === "role" ? "role" : "user", value: who }]);
  };
  return (
    <div className="flex flex-col gap-1.5">
      {value.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {value.map((one) => (
            <li key={keyOf(one)} className="flex min-h-7 items-center gap-1 rounded-md border bg-surface pr-0.5 pl-2 text-12">
              <span className="min-w-0 truncate">{nameOf(one)}</span>
              {!isReadOnly && (
                <IconButton
                  label={`Remove ${nameOf(one)}`}
                  size="sm"
                  icon={<X />}
                  onClick={() => onChange(value.filter((other) => other !== one))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {value.length < most && !(isReadOnly && value.length > 0) && (
        <Select
          value=""
          disabled={isReadOnly}
          placeholder={value.length > 0 ? "Add a reviewer…" : most === 1 ? "None" : "Anyone who can approve"}
          options={options}
          onValueChange={add}
        />
      )}
    </div>
  );
}
