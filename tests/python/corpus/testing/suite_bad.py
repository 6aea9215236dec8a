import unittest


class Bad(unittest.TestCase):
    maxDiff = None

    def test_equal(self):
        self.assertEqual({"a": [1, 2]}, {"a": [1, 3]})

    def test_text(self):
        self.assertMultiLineEqual("one\ntwo\n", "one\nthree\n")

    def test_error(self):
        {}["missing"]

    def test_sub(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1, "is one")


if __name__ == "__main__":
    unittest.main()
