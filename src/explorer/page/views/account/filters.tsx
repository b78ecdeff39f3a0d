import { useId, useState } from "preact/hooks";
import { type ActivityQuery, NO_FILTER, queryOf } from "../../chain/activity.ts";
import { accountPath } from "../../chain/addresses.ts";
import { navigate } from "../../router.ts";

const DIRECTIONS = { "": "In and out", in: "In", out: "Out" };
const KINDS = {
  "": "All kinds",
  payment: "Payments",
  call: "Calls",
  creation: "Creations",
  failed: "Failed ones",
};

/** Chooses which transactions, transfers and logs of an account are listed. */
export function ActivityFilters({
  address,
  query,
  problem,
}: {
  readonly address: string;
  readonly query: ActivityQuery;
  readonly problem: string | undefined;
}) {
  const [chosen, setChosen] = useState(query);
  const isFiltered = queryOf(query) !== "";
  const show = (wanted: ActivityQuery): void => {
    const text = queryOf(wanted);
    navigate(`${accountPath(address)}${text === "" ? "" : `?${text}`}`);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    show(chosen);
  };
  const change = (changes: Partial<ActivityQuery>): void => setChosen({ ...chosen, ...changes });
  return (
    <details class="filters" open={isFiltered}>
      <summary>Filter what the account did</summary>
      <form onSubmit={submit}>
        <Choice
          label="Direction"
          value={chosen.direction}
          options={DIRECTIONS}
          onChange={(direction) => change({ direction })}
        />
        <Choice
          label="Transactions"
          value={chosen.kind}
          options={KINDS}
          onChange={(kind) => change({ kind })}
        />
        <Text label="Token" hint="0x…" value={chosen.token} onChange={(token) => change({ token })} />
        <Text
          label="From"
          hint="Date or block"
          value={chosen.since}
          onChange={(since) => change({ since })}
        />
        <Text label="To" hint="Date or block" value={chosen.until} onChange={(until) => change({ until })} />
        <div class="actions">
          <button type="submit" class="button main">
            Show
          </button>
          {isFiltered && (
            <button type="button" class="button" onClick={() => show(NO_FILTER)}>
              All
            </button>
          )}
        </div>
        <div role="status" class="filter-problem">
          {problem !== undefined && <p class="problem">{problem}</p>}
        </div>
      </form>
    </details>
  );
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {Object.entries(options).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function Text({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </div>
  );
}
