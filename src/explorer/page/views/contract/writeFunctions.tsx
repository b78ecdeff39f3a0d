import { useId, useState } from "preact/hooks";
import { type AbiFunction, parseEther } from "viem";
import { useCoinSymbol } from "../../chain/coin.ts";
import { call } from "../../chain/connection.ts";
import { readParameter } from "../../chain/parameters.ts";
import { useDecoding } from "../../chain/useDecoding.ts";
import { sendByWallet, useWallets, type Wallet } from "../../chain/wallets.ts";
import { messageOf, showText } from "../../format.ts";
import { TransactionLink } from "../../parts/links.tsx";
import { nameOf } from "./functionNames.ts";
import { ParameterFields } from "./parameterFields.tsx";

/** Write functions of a contract, sent through the visitor's own wallet, which asks and signs. */
export function WriteFunctions({
  address,
  entries,
}: {
  readonly address: string;
  readonly entries: readonly AbiFunction[];
}) {
  const id = useId();
  const wallets = useWallets();
  const [chosen, setChosen] = useState(0);
  const wallet = wallets[chosen] ?? wallets[0];
  return (
    <>
      {wallet === undefined ? (
        <p class="muted">Writing takes a wallet in this browser, which signs and sends.</p>
      ) : (
        <div class="field wallets">
          <label for={id}>Wallet</label>
          <select
            id={id}
            value={String(chosen)}
            onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
          >
            {wallets.map(({ id: key, name }, index) => (
              <option key={key} value={String(index)}>
                {showText(name, 40)}
              </option>
            ))}
          </select>
        </div>
      )}
      <ul class="functions">
        {entries.map((entry) => (
          <li key={nameOf(entry)}>
            <WriteFunction address={address} entry={entry} wallet={wallet} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface WriteProps {
  readonly address: string;
  readonly entry: AbiFunction;
  readonly wallet: Wallet | undefined;
}

type Outcome = { readonly hash: string } | { readonly problem: string } | "sending";

function WriteFunction({ address, entry, wallet }: WriteProps) {
  const symbol = useCoinSymbol();
  const id = useId();
  const decoding = useDecoding();
  const [texts, setTexts] = useState<readonly string[]>([]);
  const [amount, setAmount] = useState("");
  const [outcome, setOutcome] = useState<Outcome>();

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (decoding === undefined || wallet === undefined) return;
    setOutcome("sending");
    try {
      const values = entry.inputs.map((input, index) => readParameter(input, texts[index] ?? ""));
      const data = decoding.encodeCall(entry, values);
      const value = `0x${parseEther(amount.trim() === "" ? "0" : amount.trim()).toString(16)}`;
      const hash = await sendByWallet(wallet, await call<string>("eth_chainId"), {
        to: address,
        data,
        value,
      });
      setOutcome({ hash });
    } catch (error) {
      setOutcome({ problem: messageOf(error) });
    }
  };

  return (
    <details class="function">
      <summary>
        <code>{showText(nameOf(entry), 200)}</code>
        {entry.stateMutability === "payable" && <span class="badge plain">payable</span>}
      </summary>
      <form class="form" onSubmit={(event) => void send(event)}>
        <ParameterFields inputs={entry.inputs} texts={texts} change={setTexts} />
        {entry.stateMutability === "payable" && (
          <div class="field">
            <label for={id}>
              Amount <span class="note">{symbol}</span>
            </label>
            <input
              id={id}
              inputMode="decimal"
              value={amount}
              onInput={({ currentTarget }) => setAmount(currentTarget.value)}
            />
          </div>
        )}
        <button
          type="submit"
          class="button main"
          disabled={decoding === undefined || wallet === undefined || outcome === "sending"}
        >
          Send by the wallet
        </button>
        <div role="status">{outcome !== undefined && <Shown outcome={outcome} />}</div>
      </form>
    </details>
  );
}

function Shown({ outcome }: { readonly outcome: Outcome }) {
  if (outcome === "sending") return <p class="note">The wallet asks you.</p>;
  if ("problem" in outcome) return <p class="problem">{showText(outcome.problem)}</p>;
  return (
    <p>
      Sent: <TransactionLink hash={outcome.hash} />
    </p>
  );
}
