import { useEffect, useRef, useState } from "preact/hooks";
import { type CsvFile, type CsvList, csvOf, MOST_ROWS } from "../chain/csv.ts";
import { messageOf, showNumber, showText } from "../format.ts";

/** A button that saves the newest rows of an account's list as a file. */
export function Download<Item>({
  list,
  account,
  filter,
  name,
}: {
  readonly list: CsvList<Item>;
  readonly account: string;
  readonly filter: object;
  /** Name of the file, without its ending. */
  readonly name: string;
}) {
  const [state, setState] = useState("");
  const [isLoading, setLoading] = useState(false);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );

  const save = async (): Promise<void> => {
    setLoading(true);
    try {
      const file = await csvOf(
        list,
        [account, filter],
        (rows) => isOpen.current && setState(`${showNumber(rows)} rows`),
        () => isOpen.current,
      );
      if (!isOpen.current) return;
      saveAs(`${name}-${account.slice(0, 10)}.csv`, file.text);
      setState(stateOf(file));
    } catch (error) {
      setState(showText(messageOf(error), 120));
    }
    setLoading(false);
  };

  return (
    <span class="download">
      <span role="status">{state}</span>
      <button
        type="button"
        class="link"
        disabled={isLoading}
        title={`At most the newest ${showNumber(MOST_ROWS)} rows`}
        onClick={() => void save()}
      >
        CSV
      </button>
    </span>
  );
}

/** What the file has, and how to get the rows that it lacks. */
function stateOf({ rows, cutAt }: CsvFile): string {
  if (cutAt === undefined) return `${showNumber(rows)} rows`;
  if (cutAt === null) return "no row yet; filter by dates to go further back";
  return `the newest ${showNumber(rows)} rows; for older ones filter to block ${cutAt}`;
}

function saveAs(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(url);
}
