import { useState } from "preact/hooks";
import { navigate } from "../router.ts";

/** One field for block numbers, hashes of blocks and transactions, and addresses. */
export function Search() {
  const [text, setText] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== "") navigate(`/search?q=${encodeURIComponent(text.trim())}`);
    setText("");
  };
  return (
    <search>
      <form class="search" onSubmit={submit}>
        <input
          type="search"
          aria-label="Search by block number, hash or address"
          placeholder="Block, hash or address"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </form>
    </search>
  );
}
