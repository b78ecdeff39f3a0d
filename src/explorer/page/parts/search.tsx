import { useState } from "preact/hooks";
import { navigate } from "../router.ts";

/** One field for block numbers, hashes of blocks and transactions, addresses, and names of tokens. */
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
          aria-label="Search by block number, hash, address or token"
          placeholder="Hash, address or name"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </form>
    </search>
  );
}
