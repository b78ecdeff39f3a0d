/** What is made of a value: at once where it is there, or else when it comes. */
export function onceKnown<T, R>(value: T | Promise<T>, use: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value);
}
