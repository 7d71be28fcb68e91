#!/usr/bin/env python3
"""Writes tales.txt: small tales of a harbour town, its weather and its machines.

    python3 make.py > tales.txt

Every sentence below was written for this project. The script only chooses among them, with a generator of its
own, so that the same text comes out on every machine and under every version of Python.
"""

TALES = 260


class Dice:
    """A linear congruential generator (Knuth's MMIX constants); the high bits choose."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound

    def pick(self, items):
        return items[self.below(len(items))]


# Who: a name and what others call them.
PEOPLE = [
    ("Mira", "she", "her"), ("Tom", "he", "his"), ("Anna", "she", "her"), ("Old Peter", "he", "his"),
    ("Ruth", "she", "her"), ("Jonas", "he", "his"), ("Ella", "she", "her"), ("Karl", "he", "his"),
    ("Nora", "she", "her"), ("Samuel", "he", "his"), ("Lena", "she", "her"), ("Victor", "he", "his"),
]

# What each looks after: the thing, where it stands, what it does, what breaks, the sign of it, the repair.
MACHINES = [
    ("the pump", "under the mill", "lifts water from the river into the high tank",
     "the valve", "It coughed twice and sent up only air.", "cleaned the valve and put a new ring of leather around it"),
    ("the crane", "at the end of the pier", "lifts barrels out of the boats",
     "the brake", "The hook came down faster than the hand that let it go.", "took the brake apart and filed it smooth"),
    ("the lamp", "in the lighthouse", "turns all night and warns the ships",
     "the cog", "The light stood still and looked at one wave only.", "cut a new cog from brass and oiled the shaft"),
    ("the loom", "in the long hall", "weaves sailcloth from flax",
     "the belt", "The thread ran loose and the cloth had a hole in every row.", "sewed the belt together and drew it tight"),
    ("the clock", "in the church tower", "strikes the hours for the whole town",
     "the spring", "It struck thirteen at noon and nothing at one.", "wound a new spring and set the hands by the sun"),
    ("the press", "behind the bakery", "prints the news every morning",
     "the roller", "Half of every word was missing.", "washed the roller and mixed the ink again"),
    ("the computer", "in the weather station", "adds up the numbers and guesses the rain",
     "the memory card", "It said that the snow would be warm.", "pulled out the card, wiped it, and read every number twice"),
    ("the telegraph", "at the railway", "carries words along the wire",
     "the relay", "All letters came out as the same letter.", "bent the relay back until it clicked"),
    ("the wind wheel", "on the hill", "grinds corn when the wind is strong",
     "the bearing", "It screamed so loudly that the dogs went home.", "packed the bearing with grease"),
    ("the mill", "beside the bridge", "saws planks from tall trees",
     "the gear", "The saw stopped in the middle of a plank.", "found the broken tooth and put in a new gear"),
    ("the printer", "in the school", "writes down what the computer says",
     "the wire", "It wrote one long line and no more.", "followed the wire to its end and joined it again"),
    ("the robot", "in the storehouse", "counts the sacks and puts them into rows",
     "the sensor", "It counted the cat as a sack.", "turned the sensor away from the sun and taught it what a cat is"),
]

WEATHER = [
    ("The rain came in from the sea", "rain", "wet"), ("A cold wind blew from the north", "wind", "cold"),
    ("Fog lay over the harbour", "fog", "grey"), ("Snow fell on the roofs", "snow", "white"),
    ("The sun burned on the stones", "heat", "dry"), ("A storm broke over the bay", "storm", "dark"),
    ("Frost sat on every window", "frost", "cold"), ("Thunder rolled behind the hills", "thunder", "dark"),
    ("Warm air rose from the fields", "heat", "quiet"), ("Small clouds ran across the sky", "wind", "bright"),
]

TIMES = ["One morning", "One evening", "In the spring", "In the autumn", "Late in the winter", "On the first of May",
         "On a Monday", "At the end of the week", "Before the sun was up", "In the middle of the night",
         "In the year of the great flood", "When the days were short"]

OPENINGS = [
    "{time} {name} walked to {thing} {place}.",
    "{name} looked after {thing} {place}.",
    "There was once a town by the sea, and in this town {name} looked after {thing} {place}.",
    "{time} nobody could find {name}, because {he} was {place}, at work on {thing}.",
    "Everybody in the town knew {thing} {place}, and everybody knew {name}.",
    "{time} the children asked {name} how {thing} works.",
]

PURPOSES = [
    "It is {thing} that {does}.",
    "You must know that {thing} {does}.",
    "\"A machine is a promise,\" {name} used to say. \"This one {does}.\"",
    "{Thing} {does}, and without it the town would stand still.",
    "Day after day {thing} {does}, and nobody thinks of it.",
]

SKIES = [
    "{weather}, and the streets were {look}.", "{weather}.", "{weather}, as it often does at this time of the year.",
    "{weather}, and the birds sat close together.", "{weather}, and the water in the harbour was {look}.",
    "{weather}, just as the computer had said.", "{weather}, although the computer had said nothing of it.",
]

TROUBLES = [
    "Then {thing} stopped. {sign}", "But that day something was wrong with {thing}. {sign}",
    "Nobody had looked at {part} for years. {sign}", "After an hour there was a strange noise. {sign}",
    "{sign} {name} put down {his} cup and listened.", "In the {kind} {part} had grown weak. {sign}",
]

GUESSES = [
    "\"It is the {kind},\" said {other}. \"Machines do not like it.\"",
    "\"It is old,\" said {other}. \"Buy a new one.\"",
    "\"Hit it with a hammer,\" said {other}.",
    "\"It was never any good,\" said {other}, who had never used it.",
    "\"Turn it off and turn it on again,\" said {other}.",
    "\"Ask the computer,\" said {other}. But the computer knew only numbers.",
    "\"Somebody must have done it by night,\" said {other}, and looked at the cat.",
]

ANSWERS = [
    "{name} shook {his} head. \"First we look, then we guess.\"",
    "\"Perhaps,\" said {name}. \"But I would rather measure it.\"",
    "{name} said nothing and took a lamp and a small key.",
    "\"Let us see,\" said {name}, and opened the lid.",
    "\"One thing at a time,\" said {name}.",
    "\"A guess costs nothing,\" said {name}, \"and that is what it is worth.\"",
]

SEARCHES = [
    "{He} wrote down what went in and what came out, and between the two {he} found the fault: it was {part}.",
    "{He} took away one piece after another, until only {part} was left.",
    "{He} felt every part with {his} hand. All of them were cool, but {part} was hot.",
    "{He} counted the turns, ten and ten and ten, and at every tenth turn {part} slipped.",
    "{He} waited until it was quiet, and in the quiet {he} could hear {part}.",
    "{He} drew the whole machine on a sheet of paper, and where the lines crossed there was {part}.",
]

WORKS = [
    "So {he} {repair}.", "It took all day, but {he} {repair}.", "Without a word {he} {repair}.",
    "While {other} held the lamp, {he} {repair}.", "Then {he} {repair}, and washed {his} hands.",
    "By the light of a candle {he} {repair}.",
]

ENDINGS = [
    "At once {thing} began to move again, slowly at first, and then as if nothing had ever been wrong.",
    "{Thing} ran, and the {kind} outside did not matter any more.",
    "In the evening {thing} worked as well as on its first day.",
    "And {thing} works to this day.",
    "The people came to see it, and {other} told everybody how it was done.",
    "{Thing} gave a small sigh and went on.",
    "Nobody clapped, because nobody had noticed. {name} liked it that way.",
]

MORALS = [
    "What you can measure you can mend.", "A small part can stop a large machine.",
    "Rain falls on the wise and on the foolish, but the wise have mended the roof.",
    "A machine does what it is told, and not what you mean.", "The loudest part is not always the broken one.",
    "He who changes two things at once learns nothing.", "Every number wants to be asked where it comes from.",
    "Keep the old drawing: it knows more than the new owner.", "The weather does not read the forecast.",
    "Slow is smooth, and smooth is soon done.", "First make it work, then make it fast.",
    "What is done twice should be done by a machine, and what is done once by hand.",
]

NOTES = [
    "{time} the computer printed the weather of the week. {weather} on Monday, and on Tuesday it was the same. "
    "{name} put the sheet on the wall and drew a line through the points. The line went up, and the next day it "
    "went down.",
    "How does {thing} know when to stop? {name} was asked this every year. It does not know. There is {part}, "
    "and when {part} moves, everything after it moves too. That is all there is in a machine: one thing that "
    "moves the next.",
    "A computer has no eyes and no hands. It has numbers, and a rule for the next number. {name} taught it the "
    "weather in this way: here is the {kind} of yesterday, now guess the {kind} of today. When it was wrong, {he} "
    "turned a small screw. When it was right, {he} left the screw alone. After a thousand days it was seldom wrong.",
    "{name} kept a book about the weather. {weather}, wrote {name}, and the glass is falling. The next page "
    "said: {weather2}, and the glass is rising. In this book there were forty years of wind and water, and not "
    "one word about {name}.",
    "There are two ways to make {thing} faster. The first is to make every part faster. The second is to let no "
    "part wait for another. {name} had tried the first way for years. {time} {he} tried the second, and by noon "
    "the work of the day was done.",
    "A letter came for {name}. \"We have heard of {thing} {place},\" it said, \"and we want to build one like it. "
    "What must we know?\" {name} wrote back: \"It {does}. Look after {part}. {moral}\"",
]


def article_up(text):
    return text[0].upper() + text[1:]


def words(dice):
    """Everything one tale is about; the same throughout the tale."""
    name, he, his = dice.pick(PEOPLE)
    other = dice.pick([person[0] for person in PEOPLE if person[0] != name])
    thing, place, does, part, sign, repair = dice.pick(MACHINES)
    weather, kind, look = dice.pick(WEATHER)
    return {
        "name": name, "he": he, "his": his, "He": article_up(he), "other": other,
        "thing": thing, "Thing": article_up(thing), "place": place, "does": does,
        "part": part, "sign": sign, "repair": repair,
        "weather": weather, "kind": kind, "look": look, "weather2": dice.pick(WEATHER)[0],
        "time": dice.pick(TIMES), "moral": dice.pick(MORALS),
    }


def tale(dice):
    about = words(dice)
    if dice.below(5) == 0:
        return dice.pick(NOTES).format(**about)
    parts = [dice.pick(OPENINGS)]
    if dice.below(3) > 0:
        parts.append(dice.pick(PURPOSES))
    if dice.below(3) > 0:
        parts.append(dice.pick(SKIES))
    parts.append(dice.pick(TROUBLES))
    if dice.below(4) > 0:
        parts += [dice.pick(GUESSES), dice.pick(ANSWERS)]
    parts += [dice.pick(SEARCHES), dice.pick(WORKS), dice.pick(ENDINGS)]
    if dice.below(3) > 0:
        parts.append("{moral}")
    return " ".join(parts).format(**about)


def main():
    dice = Dice(2026)
    tales = []
    while len(tales) < TALES:
        tales.append(tale(dice))
    print("\n\n".join(tales))


if __name__ == "__main__":
    main()
