import { settingGroups } from "#components/docs/settings-list.ts";

/** Every setting with its default; on a phone the meaning stands below the name. */
export function SettingsTable() {
  return (
    <table className="max-sm:block">
      <thead className="max-sm:sr-only">
        <tr>
          <th>Setting</th>
          <th>Default</th>
          <th>Meaning</th>
        </tr>
      </thead>
      {settingGroups.map(({ title, rows }) => (
        <tbody key={title} className="max-sm:block">
          <tr className="max-sm:block">
            <th colSpan={3} scope="colgroup" className="pt-4 max-sm:block">
              {title}
            </th>
          </tr>
          {rows.map(({ name, preset, meaning }) => (
            <tr key={name} className="max-sm:flex max-sm:flex-wrap max-sm:gap-x-3 max-sm:border-b max-sm:py-1.5">
              <td className="max-sm:border-0 max-sm:p-0">
                <code>{name}</code>
              </td>
              <td className="whitespace-nowrap max-sm:border-0 max-sm:p-0">
                {preset === null ? <span className="text-ink-faint">not set</span> : <code>{preset}</code>}
              </td>
              <td className="max-sm:w-full max-sm:border-0 max-sm:p-0">{meaning}</td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}
