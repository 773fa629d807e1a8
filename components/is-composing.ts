interface Key {
  isComposing: boolean;
  keyCode: number;
}

/** `keyCode` of every key that an input method takes; Safari ends a composition before the Enter that confirmed it. */
const INPUT_METHOD_KEY = 229;

/** Returns true for a key that belongs to an input method: it confirms or chooses a conversion, and means nothing else. */
export function isComposing(event: Key | { nativeEvent: Key }): boolean {
  const key = "nativeEvent" in event ? event.nativeEvent : event;
  return key.isComposing || key.keyCode === INPUT_METHOD_KEY;
}
