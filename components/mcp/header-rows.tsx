"use client";

import { Plus, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";

interface Row {
  id: number;
  name: string;
  value: string;
  /** A value is stored under this name; it stays when none is typed. */
  isStored: boolean;
}

/** Headers as the API takes them; null keeps the value that is stored. */
export type HeaderValues = Record<string, string | null>;

const valuesOf = (rows: readonly Row[]): HeaderValues =>
  Object.fromEntries(
    rows.flatMap(({ name, value, isStored }) => (name.trim() ? [[name.trim(), isStored && value === "" ? null : value.trim()]] : [])),
  );

/** Names and secret values of headers, a row each. */
export function HeaderRows({ stored = [], onChange }: { stored?: readonly string[]; onChange: (headers: HeaderValues) => void }) {
  const [rows, setRows] = useState<Row[]>(() => stored.map((name, id) => ({ id, name, value: "", isStored: true })));
  const nextId = useRef(stored.length);
  const change = (next: Row[]) => {
    setRows(next);
    onChange(valuesOf(next));
  };
  const edit = (id: number, part: Partial<Row>) => change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    nextId.current += 1;
    setRows([...rows, { id: nextId.current, name: rows.length === 0 ? "Authorization" : "", value: "", isStored: false }]);
  };
  return (
    <div className="flex flex-col gap-2">
      {rows.map(({ id, name, value, isStored }, index) => (
        <div key={id} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] items-center gap-2">
          <Input
            aria-label={`Name of header ${index + 1}`}
            value={name}
            placeholder="Authorization"
            readOnly={isStored}
            spellCheck={false}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => edit(id, { name: event.target.value })}
          />
          <Input
            aria-label={`Value of header ${name || index + 1}`}
            type="password"
            value={value}
            placeholder={isStored ? "Stored; type to replace it" : "Bearer …"}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => edit(id, { value: event.target.value })}
          />
          <IconButton
            label={`Remove header ${name || index + 1}`}
            icon={<Trash2 />}
            onClick={() => change(rows.filter((row) => row.id !== id))}
          />
        </div>
      ))}
      <Button size="sm" variant="ghost" icon={<Plus />} onClick={add} className="w-fit">
        Add header
      </Button>
    </div>
  );
}
